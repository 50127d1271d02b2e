# Writes ../erftable.go: erf at the multiples of 1/8 that Erf begins at, as two
# float64 each. Needs mpmath: python3 erf.py > ../erftable.go
from mpmath import erf, mp, mpf

mp.prec = 200
print("package tensor")
print()
print("// Made by testdata/erf.py.")
print()
print("// erfTable holds erf(k/8) for k from erfFirst on: the nearest float64, and what is missing.")
print("var erfTable = [...][2]float64{")
for k in range(7, 48):
    exact = erf(mpf(k) / 8)
    high = float(exact)
    print("\t{%s, %s}," % (high.hex(), float(exact - mpf(high)).hex()))
print("}")
