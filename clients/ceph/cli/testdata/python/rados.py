"""A stand-in for the module of Ceph."""
import os


class Rados:
    def __init__(self, conffile, name, conf):
        hunt = '{mon_client_hunt_interval} {mon_client_hunt_interval_backoff} {mon_client_hunt_interval_max_multiple}'
        self.said = ('{} {} {keyring} {client_mount_timeout} ' + hunt).format(conffile, name, **conf)

    def connect(self):
        if os.environ.get('REFUSED'):
            raise RuntimeError('error connecting to the cluster')
