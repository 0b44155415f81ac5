// CoreDNS with the plugins that a cluster needs. Its own main program links those of every cloud as
// well.
package main

import (
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"
	_ "github.com/coredns/coredns/plugin/cache"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/health"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/loadbalance"
	_ "github.com/coredns/coredns/plugin/ready"
)

func init() {
	// The order in which they see a query.
	dnsserver.Directives = []string{"errors", "health", "ready", "loadbalance", "cache", "kubernetes"}
}

func main() { coremain.Run() }
