// The controller of network policies, in a module of its own: it names another line of client-go than Kubernetes.
module bmg/cluster/policies

go 1.24.0

require github.com/cloudnativelabs/kube-router/v2 v2.1.0
