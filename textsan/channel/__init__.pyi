from .channel import Channel as Channel
from .posterior import Posterior as Posterior
