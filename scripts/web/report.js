// report.js FOLDER PAGE.html...: looks at pages that bnctl writes in headless Chromium, for
// `make test-report`, at 400 and 1200 pixels, light and dark, and printed: no request leaves a page, nothing is
// wider than the page, axe-core finds nothing serious. Screenshots go to FOLDER.
const assert = require('assert')
const fs = require('fs')
const path = require('path')
const { chromium } = require('playwright-core')

const [folder, ...pages] = process.argv.slice(2)
const axe = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8')

// look opens a page at a width and in a colour scheme, checks it and takes a picture.
async function look(browser, file, width, colorScheme) {
  const what = `${path.basename(path.dirname(file))}-${path.basename(file, '.html')}-${width}-${colorScheme}`
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme })
  context.setDefaultTimeout(300000) // a machine may be busy
  const page = await context.newPage()
  const asked = []
  page.on('request', (r) => { if (!r.url().startsWith('data:')) asked.push(r.url()) })
  const errors = []
  page.on('console', (m) => { if (m.type() === 'error') errors.push(m.text()) })
  await page.goto('file://' + path.resolve(file))
  assert.deepEqual(asked, ['file://' + path.resolve(file)], `${what}: requests`)
  assert.deepEqual(errors, [], what)
  const wide = await page.evaluate(() => document.documentElement.scrollWidth)
  assert.ok(wide <= width, `${what}: the page is ${wide} pixels wide`)
  await page.evaluate(axe)
  const { violations, passes } = await page.evaluate(() => axe.run())
  for (const v of violations) console.log(`${what}: ${v.impact}: ${v.id}: ${v.nodes.slice(0, 5).map((n) => n.target).join(' ')}`)
  const bad = violations.filter((v) => ['serious', 'critical'].includes(v.impact))
  assert.deepEqual(bad.map((v) => v.id), [], what)
  console.log(`${what}: ${passes.length} rules of axe-core pass, ${violations.length} do not, none of them serious`)
  await page.screenshot({ path: path.join(folder, what + '.png'), fullPage: true })
  if (file === pages[0] && width === 1200 && colorScheme === 'light') { // the picture of the documentation
    await page.screenshot({ path: path.join(folder, 'report.png'), fullPage: true, clip: { x: 0, y: 0, width: 1200, height: 1080 } })
  }
  await context.close()
}

// print looks at a page as paper shows it, whatever the reader's system: light, and as wide as A4 without its margins.
async function print(browser, file) {
  const what = `${path.basename(path.dirname(file))}-${path.basename(file, '.html')}-print`
  const width = 703
  const context = await browser.newContext({ viewport: { width, height: 1000 }, colorScheme: 'dark' })
  context.setDefaultTimeout(300000)
  const page = await context.newPage()
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
  await page.goto('file://' + path.resolve(file))
  const seen = await page.evaluate(() => ({ wide: document.documentElement.scrollWidth,
    paper: getComputedStyle(document.body).backgroundColor }))
  assert.ok(seen.wide <= width, `${what}: the page is ${seen.wide} pixels wide`)
  assert.equal(seen.paper, 'rgb(255, 255, 255)', `${what}: the paper`)
  await page.screenshot({ path: path.join(folder, what + '.png'), fullPage: true })
  console.log(`${what}: light, and no wider than paper`)
  await context.close()
}

async function main() {
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
  try {
    for (const file of pages) {
      for (const width of [400, 1200]) {
        for (const scheme of ['light', 'dark']) await look(browser, file, width, scheme)
      }
      await print(browser, file)
    }
  } finally {
    await browser.close()
  }
}
main().catch((e) => { console.error(e); process.exit(1) })
