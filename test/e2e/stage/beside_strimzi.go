package stage

// besideTitle is the title of the section of the page that no run writes.
const besideTitle = "Beside Strimzi 1.2.0"

// beside compares both operators. They were measured once, by hand; the bounds and the present figures are those of the scenarios.
const beside = "## " + besideTitle + `

Strimzi's cluster operator 1.2.0, and Detent at revision cbf69c9, did the same work on the same machine (2 processors, with other load), one after the other:
three nodes in both roles, from Kafka 4.2.0 to 4.3.1, with producers (acks=all, 3 replicas, min.insync.replicas=2).
The figures are of single runs and say no more than the order of magnitude. The last column links the scenarios below that repeat the work, and what they demand.

| | Strimzi 1.2.0 | Detent at cbf69c9 | today |
|---|---|---|---|
| upgrade: Ready, with the metadata level raised, after | 94 s; 71 s with the probes of Detent | 67 s | [its figures](#upgrade-of-three-nodes-in-both-roles-takes-one-step-after-another-without-a-kill) |
| the operator is killed once at each node: Ready after | 492 s | 96 s | [its figures](#upgrade-of-three-nodes-in-both-roles-restarts-each-once-with-the-manager-killed-at-each) |
| from each kill until the next pod is deleted | 10, 321 and 32 s | 16, 17 and 17 s | a killed manager leads again [within 5 s](#the-manager-leads-again-within-five-seconds-when-its-container-is-killed-and-no-other-replica-leads-meanwhile) |
| the spec is reverted in the middle of the roll: acted on after | 76 s | 0.1 s | [within 2 s](#in-the-middle-of-an-upgrade-a-revert-takes-back-the-nodes-that-had-moved-and-no-other) |
| until Ready; restarts of each node | 159 s; 2, 2, 2: the third was first moved | 37 s; 0, 2, 2 | no node that had not moved is restarted |
| an image cannot be pulled: the status names it after | 304 s, Ready=True until then | 12 s | [within 15 s](#in-the-middle-of-an-upgrade-an-image-that-cannot-be-pulled-is-named-stalls-the-roll-and-is-corrected-by-the-spec) |
| it is corrected: Ready after | 39 s | 14 s | its figures there |
| a downgrade that nothing speaks against: first restart after | 2 s | 30 s | the roll begins [within 5 s](#downgrade-that-nothing-speaks-against-starts-at-once) |
| writes of the status in one upgrade | 2 | 18 | one for each transition, node and kill at most |

What was not the same:

- Strimzi's brokers speak TLS among themselves and with the operator; Detent's do not.
- Strimzi's readiness probe begins after 15 s and is repeated every 10 s, Detent's every second. So nothing here shows that an upgrade is faster.
- The scenarios below begin at another version, 4.1.2, and run at the load that they name: their durations do not compare with this table.
`
