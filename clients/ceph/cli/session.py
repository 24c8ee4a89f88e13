"""Executes commands of Ceph over one connection: a request in each line of the input, an answer in each line of the output.

A command is described and sent as the ceph command does it, with the same modules, so that exit codes and texts are the same.
"""
import contextlib
import errno
import io
import json
import os
import sys
import threading
import time

import rados
from ceph_argparse import find_cmd_target, json_command, parse_json_funcsigs, validate_command

IDLE = 120  # seconds without a request after which the program ends: whoever has started it may be gone

conf, name, keyring, patience = sys.argv[1:]
# Monitors that elect a leader answer no client, also not one that has just connected: it tries again after a second, and not after three. It drops
# what it has begun then, so that it has to leave up to four seconds to monitors that are slow to answer.
hunt = {'mon_client_hunt_interval': '1', 'mon_client_hunt_interval_backoff': '1.5', 'mon_client_hunt_interval_max_multiple': '4'}
cluster = rados.Rados(conffile=conf, name=name, conf=dict(hunt, keyring=keyring, client_mount_timeout=patience))
described = {}  # the commands that daemons of a kind know
known = {}  # the arguments of commands that were validated: to validate one takes most of its time
KNOWN = 256  # at most that many
printing, validating = threading.Lock(), threading.Lock()
requested = time.monotonic()


def say(**answer):
    with printing:
        print(json.dumps(answer), flush=True)


def kind(target):
    return target[0], target[1] != ''


def describe(target, seconds):
    ret, out, status = json_command(cluster, target=target, prefix='get_command_descriptions', timeout=seconds)
    if ret == 0:
        described[kind(target)] = parse_json_funcsigs(out.decode('utf-8'), 'cli')
    return ret, b'', status or 'problem getting command descriptions from {}.{}'.format(*target)


def validated(target, words):
    key = kind(target), tuple(words)
    with validating, contextlib.redirect_stderr(io.StringIO()):  # suggestions for a command that is unknown
        if key not in known:
            arguments = validate_command(described[kind(target)], words)
            if not arguments:
                return {}
            if len(known) >= KNOWN:
                known.clear()
            known[key] = arguments
        return dict(known[key])


def execute(words, data, seconds):
    target = find_cmd_target(words)
    if words[0] == 'tell':
        words = words[2:]
    if words[-2:] == ['-i', '-']:
        words = words[:-2]
    arguments = validated(target, words) if kind(target) in described else {}
    if not arguments:  # a daemon that was upgraded since knows other commands
        failed = describe(target, seconds)
        if failed[0] != 0:
            return failed
        arguments = validated(target, words)
    if not arguments:
        return -errno.EINVAL, b'', 'invalid command'
    arguments['format'] = 'json'
    return json_command(cluster, target=target, argdict=arguments, inbuf=data, timeout=seconds)


def answer(request):
    try:
        ret, out, status = execute(request['args'], request['input'].encode('utf-8'), request['seconds'])
    except Exception as e:
        if not str(e).endswith('timed out'):
            say(id=request['id'], failed=str(e))
            return
        # The command is still under way, and would be executed whenever Ceph answers again. Others have as long to end.
        ending = threading.Timer(request['seconds'], os._exit, (0,))
        ending.daemon = True
        ending.start()
        say(id=request['id'], failed='it took longer than {} seconds'.format(request['seconds']))
        return
    if ret < 0:
        status = 'Error {}: {}'.format(errno.errorcode.get(-ret, 'Unknown'), status)
    say(id=request['id'], code=abs(ret), out=out.decode('utf-8', 'replace'), err=status)


def end_idle():
    while time.monotonic() - requested < IDLE:
        time.sleep(5)
    os._exit(0)


cluster.connect()
say(ready=True)
threading.Thread(target=end_idle, daemon=True).start()
for line in sys.stdin:
    requested = time.monotonic()
    threading.Thread(target=answer, args=(json.loads(line),), daemon=True).start()
os._exit(0)  # threads of commands that hang do not delay it
