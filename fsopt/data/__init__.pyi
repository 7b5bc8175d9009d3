from .dataset import Dataset as Dataset
from .drawn import gbd_set_one as gbd_set_one
from .drawn import gbd_set_two as gbd_set_two
from .drawn import gmeb_type1 as gmeb_type1
from .drawn import gmeb_type2 as gmeb_type2
from .drawn import mpm_synthetic as mpm_synthetic
from .given import load_dataset as load_dataset
