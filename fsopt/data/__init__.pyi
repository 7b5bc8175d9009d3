from .dataset import Dataset as Dataset
from .intake import load_dataset as load_dataset
from .intake import load_samples as load_samples
from .synthetic.gbd import gbd_set_one as gbd_set_one
from .synthetic.gbd import gbd_set_two as gbd_set_two
from .synthetic.gmeb import gmeb_type1 as gmeb_type1
from .synthetic.gmeb import gmeb_type2 as gmeb_type2
from .synthetic.mpm import mpm_synthetic as mpm_synthetic
