# Writes tiff.tar.gz: TIFFs in each mode and each compression of Pillow's libtiff, with both photometric
# interpretations of grey and both fill orders, and digests of the pixels that Pillow reads:
#     /usr/bin/python3 tiff.py
# Pictures of 16 bits with white as 0 are left out, because Pillow 9.4 ignores that white is 0. Files that
# bnctl refuses are left out too.
from PIL import Image
import gzip, hashlib, io, itertools, json, random, struct, sys, tarfile
random.seed(5)
W,H=29,13
out,pixels={},{}
def keep(name, tiff, rgb):
    refused = name.startswith(('1-tiff_ccitt', 'CMYK-jpeg', 'L-jpeg-inverted', 'LA-', 'RGBA-jpeg', 'hand2', 'hand4'))
    if refused or name.startswith('I16') and 'inverted' in name: return
    out[name+'.tif']=tiff; pixels[name+'.tif']=hashlib.sha256(rgb.tobytes()).digest()[:8].hex()
def img(mode):
    im=Image.new(mode,(W,H))
    px=im.load()
    for y in range(H):
        for x in range(W):
            v=random.randrange(256)
            if mode=='1': px[x,y]=255*((x//3+y//2+(v>200))%2)
            elif mode in('L','P'): px[x,y]=(x*7+y*5+v//16)%256
            elif mode=='RGB': px[x,y]=(x*8,y*16,v)
            elif mode=='RGBA': px[x,y]=(x*8,y*16,v,200)
            elif mode=='CMYK': px[x,y]=(x*8,y*16,v,v//2)
            elif mode=='I;16': px[x,y]=v*257
            elif mode=='LA': px[x,y]=(v,100)
    if mode=='P': im.putpalette([ (i*37)%256 for i in range(768)])
    return im
def entries(b):
    o='<' if b[:2]==b'II' else '>'
    at=struct.unpack(o+'I',b[4:8])[0]; n=struct.unpack(o+'H',b[at:at+2])[0]
    return o,at,n
def get(b,tag):
    o,at,n=entries(b)
    for i in range(n):
        e=at+2+12*i
        t,ty,c=struct.unpack(o+'HHI',b[e:e+8])
        if t==tag:
            size={1:1,3:2,4:4}[ty]*c
            p=e+8 if size<=4 else struct.unpack(o+'I',b[e+8:e+12])[0]
            return list(struct.unpack(o+{1:'B',3:'H',4:'I'}[ty]*c,b[p:p+size]))
def put(b,tag,value):
    """sets a short tag in a new directory at the end of the file"""
    o,at,n=entries(b)
    es=[b[at+2+12*i:at+14+12*i] for i in range(n)]
    es=[e for e in es if struct.unpack(o+'H',e[:2])[0]!=tag]
    es.append(struct.pack(o+'HHIHH',tag,3,1,value,0))
    es.sort(key=lambda e:struct.unpack(o+'H',e[:2])[0])
    if len(b)%2: b+=b'\0'
    new=len(b)
    return b[:4]+struct.pack(o+'I',new)+b[8:]+struct.pack(o+'H',len(es))+b''.join(es)+b'\0\0\0\0'
rev=bytes(int('{:08b}'.format(i)[::-1],2) for i in range(256))
def flip(b):
    for off,n in zip(get(b,273),get(b,279)):
        b=b[:off]+b[off:off+n].translate(rev)+b[off+n:]
    return put(b,266,2)
comps=['raw','tiff_lzw','tiff_adobe_deflate','tiff_deflate','packbits','group3','group4','jpeg','tiff_ccitt']
for mode,comp in itertools.product(['1','L','P','RGB','RGBA','CMYK','I;16','LA'],comps):
    if comp in('group3','group4','tiff_ccitt') and mode!='1': continue
    try:
        f=io.BytesIO(); img(mode).save(f,'TIFF',compression=None if comp=='raw' else comp)
    except Exception as e:
        print('-',mode,comp,str(e)[:50],file=sys.stderr); continue
    b=f.getvalue()
    name=mode.replace(';','')+'-'+comp
    variants={name:b}
    ph=get(b,262)
    if ph and ph[0] in(0,1): variants[name+'-inverted']=put(b,262,1-ph[0])
    for k,v in list(variants.items()):
        if comp!='jpeg': variants[k+'-lsb']=flip(v)
    for k,v in variants.items():
        try:
            im=Image.open(io.BytesIO(v)); im.load()
            if im.mode.startswith('I;16'):
                rgb=Image.frombytes('L',im.size,bytes(p>>8 for p in im.getdata())).convert('RGB')
            else: rgb=im.convert('RGB')
        except Exception as e:
            print('?',k,str(e)[:60],file=sys.stderr); continue
        keep(k, v, rgb)
# uncompressed grey and palette with 2 and 4 bits per sample, written without Pillow
def hand(bits,ph,comp,order):
    row=[(x*5+1)%(1<<bits) for x in range(W)]
    rows=b''
    for y in range(H):
        s=''.join('{:0{}b}'.format((v+y)%(1<<bits),bits) for v in row); s+='0'*(-len(s)%8)
        r=bytes(int(s[i:i+8],2) for i in range(0,len(s),8))
        rows+=r
    if order==2: rows=rows.translate(rev)
    es=[(256,W),(257,H),(258,bits),(259,1),(262,ph),(266,order),(273,None),(277,1),(278,H),(279,len(rows))]
    n=len(es)+(1 if ph==3 else 0)
    dirsize=2+12*n+4; off=8; data=off+dirsize
    pal=b''
    if ph==3: pal=struct.pack('<%dH'%(3<<bits),*[ (i*2311)%65536 for i in range(3<<bits)])
    b=b'II*\0'+struct.pack('<I',8)+struct.pack('<H',n)
    for t,v in es:
        b+=struct.pack('<HHII',t,4 if t in(256,257,273,278,279) else 3,1,data+len(pal) if v is None else v)
    if ph==3: b+=struct.pack('<HHII',320,3,3<<bits,data)
    b+=b'\0'*4+pal+rows
    return b
for bits,ph,order in itertools.product([1,2,4,8],[0,1,3],[1,2]):
    k='hand%d-ph%d-order%d'%(bits,ph,order); v=hand(bits,ph,1,order)
    try:
        im=Image.open(io.BytesIO(v)); im.load(); rgb=im.convert('RGB')
    except Exception as e:
        print('?',k,str(e)[:60],file=sys.stderr); continue
    keep(k, v, rgb)

out['pixels.json']=json.dumps(pixels).encode()
with gzip.GzipFile('tiff.tar.gz','wb',mtime=0) as z, tarfile.open(fileobj=z,mode='w') as t:
    for name in sorted(out):
        info=tarfile.TarInfo(name); info.size=len(out[name]); t.addfile(info,io.BytesIO(out[name]))
