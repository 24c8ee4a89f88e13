"""A stand-in for the module of Ceph."""
import os


class Rados:
    def __init__(self, conffile, name, conf):
        self.said = '{} {} {keyring} {client_mount_timeout}'.format(conffile, name, **conf)

    def connect(self):
        if os.environ.get('REFUSED'):
            raise RuntimeError('error connecting to the cluster')
