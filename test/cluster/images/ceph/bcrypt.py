# Replaces the module of this name, which Python 3.13 cannot load into the subinterpreters that ceph-mgr creates for its
# modules. They import it and, without a dashboard, do not call it. A call raises an error.


def _missing(*_args, **_kwargs):
    raise NotImplementedError('this image of Ceph has no bcrypt')


gensalt = hashpw = checkpw = _missing
