// page.js BNCTL FOLDER SCREENSHOT.png: uses the page of bnctl serve as people do, in
// headless Chromium, for `make test-web`: a picture is chosen by keyboard alone,
// dropped and pasted; two models are asked at once; the requests to copy are run; text
// of the model stays text; axe-core looks at it in light and dark. FOLDER has glyphs.bnm, a
// template of digits, as `bnctl demo` makes it, and scenes.bnm, which gives pixels classes.
const assert = require('assert')
const fs = require('fs')
const os = require('os')
const path = require('path')
const { execFileSync, spawn } = require('child_process')
const readline = require('readline')
const { chromium } = require('playwright-core')

const [bnctl, folderOfModels, screenshot] = process.argv.slice(2)
const axe = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8')

// serve starts the server and returns its address.
async function serve() {
  const server = spawn(bnctl, ['serve', folderOfModels, '--http', '127.0.0.1:0', '--grpc', '', '--json', '--quiet'],
    { stdio: ['ignore', 'pipe', 'inherit'] })
  for await (const line of readline.createInterface({ input: server.stdout })) {
    return { server, url: 'http://' + JSON.parse(line).http }
  }
  throw new Error('bnctl serve said nothing')
}

// digit draws one in the browser and returns it as PNG.
async function digit(page, text) {
  const url = await page.evaluate((text) => {
    const canvas = Object.assign(document.createElement('canvas'), { width: 28, height: 28 })
    const c = canvas.getContext('2d')
    c.fillRect(0, 0, 28, 28)
    Object.assign(c, { fillStyle: '#fff', font: 'bold 22px sans-serif', textAlign: 'center', textBaseline: 'middle' })
    c.fillText(text, 14, 15)
    return canvas.toDataURL('image/png')
  }, text)
  return Buffer.from(url.split(',')[1], 'base64')
}

// scene draws one in the browser, of the kind that shapes: has, and returns it as PNG.
async function scene(page) {
  const url = await page.evaluate(() => {
    const canvas = Object.assign(document.createElement('canvas'), { width: 64, height: 64 })
    const c = canvas.getContext('2d')
    for (const [colour, draw] of [['#445', () => c.fillRect(0, 0, 64, 64)], ['#c33', () => c.arc(22, 24, 13, 0, 7)],
      ['#3c4', () => c.rect(34, 36, 22, 20)]]) {
      c.fillStyle = colour
      c.beginPath()
      draw()
      c.fill()
    }
    return canvas.toDataURL('image/png')
  })
  return Buffer.from(url.split(',')[1], 'base64')
}

// answered waits for an answer of five classes and returns the first label.
async function answered(page) {
  await page.waitForFunction(() => document.querySelectorAll('#result .bar').length >= 5)
  const text = await page.textContent('#result')
  assert.match(text, /\.png: .* ms in the queue, .* ms on the device/)
  return page.textContent('#result tbody td')
}

// clear forgets the answer, so that the next one is another.
const clear = (page) => page.evaluate(() => document.getElementById('result').replaceChildren())

// byKeyboard chooses a file with the keyboard alone.
async function byKeyboard(page, file) {
  const chooser = page.waitForEvent('filechooser')
  const seen = []
  for (let i = 0; i < 10; i++) {
    await page.keyboard.press('Tab')
    const id = await page.evaluate(() => document.activeElement.id || document.activeElement.className)
    seen.push(id)
    const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle)
    assert.notEqual(outline, 'none', `focus is not seen on ${id}`)
    if (id === 'file') break
  }
  assert.deepEqual(seen, ['model', 'every', 'file'])
  await page.keyboard.press('Enter')
  await (await chooser).setFiles(file)
}

// dropped drops a file, with the browser's own events.
async function dropped(page, file) {
  const cdp = await page.context().newCDPSession(page)
  const data = { items: [], files: [file], dragOperationsMask: 1 }
  for (const type of ['dragEnter', 'dragOver', 'drop']) {
    await cdp.send('Input.dispatchDragEvent', { type, x: 200, y: 200, data })
  }
}

// pasted puts a picture into the clipboard and pastes it.
async function pasted(page, png) {
  await page.evaluate(async (base64) => {
    const blob = new Blob([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], { type: 'image/png' })
    await navigator.clipboard.write([new ClipboardItem({ 'image/png': blob })])
  }, png.toString('base64'))
  await page.keyboard.press('Control+V')
}

// accessible runs axe-core and wants no serious or critical violation.
async function accessible(page, what) {
  await page.evaluate(axe)
  const { violations, passes } = await page.evaluate(() => axe.run())
  for (const v of violations) console.log(`${what}: ${v.impact}: ${v.id}: ${v.nodes.map((n) => n.target).join(' ')}`)
  const bad = violations.filter((v) => ['serious', 'critical'].includes(v.impact))
  assert.deepEqual(bad.map((v) => v.id), [], what)
  console.log(`${what}: ${passes.length} rules of axe-core pass, ${violations.length} do not, none of them serious`)
}

async function use(page, url, folder) {
  const errors = []
  page.on('console', (m) => { if (m.type() === 'error') errors.push(m.text()) })
  page.on('pageerror', (e) => errors.push(String(e)))
  await page.goto(url)
  await page.waitForFunction(() => document.querySelectorAll('#norms tr').length > 0)
  assert.match(await page.textContent('#health'), /healthy.*batch norms/)
  await page.waitForFunction(() => document.querySelectorAll('#copies pre').length === 3)
  assert.equal(await page.getAttribute('#result', 'aria-live'), 'polite')
  const file = path.join(folder, 'seven.png')
  fs.writeFileSync(file, await digit(page, '7'))
  await byKeyboard(page, file)
  assert.equal(await answered(page), '7')
  await accessible(page, 'light')
  await clear(page)
  fs.writeFileSync(file, await digit(page, '1'))
  await dropped(page, file)
  assert.equal(await answered(page), '1')
  assert.equal(await page.inputValue('#file'), '')
  await clear(page)
  await pasted(page, await digit(page, '3'))
  assert.equal(await answered(page), '3')
  await copied(page, folder, file)
  await both(page, file)
  await looks(page)
  assert.deepEqual(errors, [])
  fs.writeFileSync(file, 'no picture')
  await page.setInputFiles('#file', [])
  await page.setInputFiles('#file', file)
  await page.waitForSelector('#result .error')
  await page.uncheck('#every')
  await accessible(page, 'an error, dark')
  await markup(page, file)
}

// copied runs the requests that the page has to copy, as they stand there.
async function copied(page, folder, file) {
  fs.copyFileSync(file, path.join(folder, 'picture.jpg'))
  const [curl, python, go] = await page.locator('#copies pre').allTextContents()
  fs.writeFileSync(path.join(folder, 'main.go'), go)
  for (const command of [['sh', '-c', curl], ['python3', '-c', python], ['go', 'run', 'main.go']]) {
    const said = execFileSync(command[0], command.slice(1), { cwd: folder, env: { ...process.env, GOFLAGS: '' } })
    const { top } = JSON.parse(said)
    assert.equal(top[0].label, '1', `${command[0]}: ${said}`)
  }
  console.log('the requests for curl, Python and Go answer')
}

// both asks both models about a picture: classes of one, a mask of the other.
async function both(page, file) {
  await clear(page)
  file = path.join(path.dirname(file), 'scene.png')
  fs.writeFileSync(file, await scene(page))
  await page.check('#every')
  await page.setInputFiles('#file', [])
  await page.setInputFiles('#file', file)
  await page.waitForFunction(() => document.querySelectorAll('#result canvas').length === 2 &&
    document.querySelectorAll('#result .swatch').length > 0)
  assert.match(await page.textContent('#result'), /glyphs, version 1.*scenes, version 1/)
  await page.selectOption('#model', { index: 1 })
  await page.waitForFunction(() => document.querySelector('#copies pre').textContent.includes('/segment'))
  await page.selectOption('#model', { index: 0 })
  await page.waitForFunction(() => document.querySelector('#copies pre').textContent.includes('/classify'))
  await page.waitForFunction(() => document.querySelectorAll('#charts svg').length === 3)
}

// looks takes pictures of the page at 400 and 1200 pixels, light and dark; nothing is wider than the page.
async function looks(page) {
  for (const width of [400, 1200]) {
    for (const colorScheme of ['light', 'dark']) {
      await page.setViewportSize({ width, height: 900 })
      await page.emulateMedia({ colorScheme })
      await accessible(page, `${width} ${colorScheme}`)
      const wide = await page.evaluate(() => document.documentElement.scrollWidth)
      assert.ok(wide <= width, `${width}: the page is ${wide} pixels wide`)
      await page.screenshot({ path: screenshot.replace('.png', `-${width}-${colorScheme}.png`), fullPage: true })
    }
  }
  await page.emulateMedia({ colorScheme: 'light' })
  await page.screenshot({ path: screenshot, clip: { x: 0, y: 0, width: 1200, height: 1080 }, fullPage: true })
  await page.emulateMedia({ colorScheme: 'dark' })
}

// markup answers with a label that would be HTML, which has to stay text.
async function markup(page, file) {
  const label = '<img src=x onerror="window.owned = true">'
  const top = [0, 1, 2, 3, 4].map((index) => ({ label, index, p: 0.2 }))
  await page.route('**/classify', (r) => r.fulfill({ json: { top, queue_ms: 0, device_ms: 0 } }))
  await clear(page)
  await page.setInputFiles('#file', [])
  await page.setInputFiles('#file', file)
  assert.equal(await answered(page), label)
  assert.equal(await page.evaluate(() => document.images.length + (window.owned ? 1 : 0)), 0)
}

async function main() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'bnctl-web'))
  const { server, url } = await serve()
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
  try {
    const context = await browser.newContext({ viewport: { width: 760, height: 900 }, colorScheme: 'light' })
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: url })
    const page = await context.newPage()
    page.setDefaultTimeout(300000) // a machine may be busy
    await use(page, url, folder)
    console.log('test-web: keyboard, drop and paste are answered')
  } finally {
    await browser.close()
    server.kill()
    fs.rmSync(folder, { recursive: true })
  }
}
main().catch((e) => { console.error(e); process.exit(1) })
