package step

// Names of functions, inputs and outputs that a step uses.
const (
	InputInverse = "inverse" // whole f32[]: 1/denominator of the loss
	// OutputLoss is whole f64[1], the sum of cross-entropies; for other losses, moments of the elements.
	OutputLoss = "loss"
	OutputHits = "correct" // whole f64[2]: labels correct, labels counted; absent for numbers
	// OutputPartnersLoss is whole f64[1], the sum of the second losses of mixed samples.
	OutputPartnersLoss = "loss:partners"
	// OutputPositives is whole f64[3], the moments of a mask over the cells: 1 for a cell with an object.
	OutputPositives = "positives"

	// Estimate is the name of the function with only the moments as results.
	Estimate = "estimate"
	// MomentsPrefix begins the names of the outputs with the moments of a batch norm; the layer follows.
	MomentsPrefix = "moments:"
	// GradientPrefix begins the names of the outputs with gradients; the state tensor follows.
	GradientPrefix = "grad:"
)
