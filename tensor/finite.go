package tensor

// IsFinite reports whether x is neither an infinity nor NaN.
func IsFinite[F float32 | float64](x F) bool { return x-x == 0 }
