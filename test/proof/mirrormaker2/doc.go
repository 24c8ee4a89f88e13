// Package mirrormaker2 explores requests for the offsets of a connector. It runs the code of controllers/mirrormaker2 itself, with all of
// its lifecycles. Pods, the controller of StrimziPodSets, nodes and Connect are a World.
package mirrormaker2
