# Stands in for the module of this name, which Python 3.13 does not load into the interpreters that ceph-mgr makes for its
# modules. They import it and, without a dashboard, do not call it; who does is told.


def _missing(*_args, **_kwargs):
    raise NotImplementedError('this image of Ceph has no bcrypt')


gensalt = hashpw = checkpw = _missing
