// The geometry of a convolution, as package gpu writes it.
#define G_C g[0]
#define G_H g[1]
#define G_W g[2]
#define G_O g[3]
#define G_OH g[4]
#define G_OW g[5]
#define G_KH g[6]
#define G_KW g[7]
#define G_SH g[8]
#define G_SW g[9]
#define G_TOP g[10]
#define G_LEFT g[11]
#define G_DH g[12]
#define G_DW g[13]
#define G_CG g[14]
#define G_OG g[15]
#define G_BASE g[16]    // the first weight
#define G_STEP_O g[17]  // distance of weights between output channels,
#define G_STEP_K g[18]  // between input channels of a group
#define G_STEP_T g[19]  // and between taps
#define G_ORDER g[20]   // order of the chain
#define G_ZERO ((IN float *)(g + 21))
