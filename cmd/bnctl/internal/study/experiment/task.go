package experiment

// Tasks are recipes for studies, as values of options by their names. They must not be changed, because
// published figures depend on them.
//
// "segment" is semantic segmentation with few images per replica, the purpose of synchronised batch norm
// (Zhao et al. 2017; Zhang et al. 2018): unet-bn on 800 scenes of shapes, in batches of 8 images.
//
// "detect" is a detector with few pictures per replica (Peng et al. 2018, MegDet): yolox-nano on the pictures
// of the option data, in batches of 8.
var Tasks = map[string]map[string]string{
	"segment": {"model": "unet-bn", "data": "shapes:800", "val": "shapes:200", "batch": "8", "epochs": "8",
		"eval-every": "2", "lr": "0.02", "schedule": "poly", "per-replica": "1,2,4,8",
		"arms": "sync,replica,frozen", "precise": "400", "measure": Training},
	"detect": {"model": "yolox-nano", "size": "192x256", "batch": "8", "epochs": "30", "eval-every": "5",
		"optimizer": "adamw", "lr": "0.002", "weight-decay": "0.0005", "warmup": "2", "schedule": "cosine",
		"augment": "flip jitter:0.4", "per-replica": "2", "arms": "sync,replica,frozen", "frozen-after": "5",
		"precise": "200", "measure": Training},
}
