// Package stack is the shop: nginx, a gateway, an order service, product services,
// a registry, a database, a vendor and a receiver of spans, all on loopback. What
// is the same in every run (database, registry, receiver) starts once; the
// services start anew for each run with the settings of its scenario.
package stack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/firebreak-io/firebreak/lab/cmd/burn/env"
	"github.com/firebreak-io/firebreak/lab/cmd/burn/otlp"
	"github.com/firebreak-io/firebreak/lab/cmd/burn/truth"
)

// Ports, counted from the first of the block.
const (
	nginxPort = iota
	mariaPort
	zooPort
	otlpPort
	vendorPort
	delayPort
	postgresPort
	zooControl     = 10
	servicePorts   = 20 // of the first service
	portsOfService = 10
)

// Stack is everything that runs.
type Stack struct {
	Env    *env.Env
	Java   string   // folder with dubbo3, dubbo27 and the agent
	GoBin  string   // the dubbo-go program
	DB     *MariaDB // always there; see Database
	Nginx  *Nginx
	Vendor *Vendor
	Spans  *otlp.Receiver

	Services []*Service // of the present run
	delay    *Delay

	postgres     *Postgres // once a run needed it
	usesPostgres bool      // the present run

	zooKeeper, otlpPort int
}

// Start starts what all runs share.
func Start(ctx context.Context, e *env.Env, java, goBin string) (*Stack, error) {
	s := &Stack{Env: e, Java: java, GoBin: goBin, zooKeeper: e.Port(zooPort), otlpPort: e.Port(otlpPort)}
	for _, dir := range []string{"run", "nginx"} {
		// Logs of an earlier lab.
		if err := os.RemoveAll(filepath.Join(e.Dir, dir)); err != nil {
			return nil, err
		}
	}
	var err error
	if s.Spans, err = otlp.Listen(env.Addr(s.otlpPort)); err != nil {
		return nil, err
	}
	if s.Vendor, err = startVendor(env.Addr(e.Port(vendorPort))); err != nil {
		return nil, err
	}
	dir, err := e.Folder("nginx")
	if err != nil {
		return nil, err
	}
	s.Nginx = &Nginx{Dir: dir, Port: e.Port(nginxPort)}
	zoo, err := s.startJVM(Spec{Name: "zookeeper", Role: "zookeeper", Line: "dubbo3", Heap: "96m"}, zooControl)
	if err != nil {
		return nil, err
	}
	if s.DB, err = startMariaDB(ctx, e, e.Port(mariaPort)); err != nil {
		return nil, err
	}
	return s, zoo.Wait(ctx)
}

// HandOver ends Spans and gives the port to which the services export, for another
// to listen at.
func (s *Stack) HandOver() (port int, err error) {
	err = s.Spans.Close()
	s.Spans = nil
	return s.otlpPort, err
}

// Close ends all that was started.
func (s *Stack) Close() error {
	if s.delay != nil {
		s.delay.close()
	}
	if s.Vendor != nil {
		s.Vendor.close()
	}
	err := s.Env.Close()
	if s.Spans != nil {
		err = errors.Join(err, s.Spans.Close())
	}
	return err
}

// Setup is what a run needs beside the shared part.
type Setup struct {
	Proxy    Proxy
	Services []Spec
	Delay    time.Duration // of the way to the database, one way
	Postgres bool          // is the database, not MariaDB
}

// Use starts the services of a run and waits until all can serve.
func (s *Stack) Use(ctx context.Context, set Setup) error {
	if err := s.Leave(); err != nil {
		return err
	}
	for i := range set.Services {
		if err := os.RemoveAll(filepath.Join(s.Env.Dir, "run", set.Services[i].Name)); err != nil {
			return err
		}
	}
	if s.usesPostgres = set.Postgres; set.Postgres && s.postgres == nil {
		var err error
		if s.postgres, err = startPostgres(ctx, s.Env, s.Env.Port(postgresPort)); err != nil {
			return err
		}
	}
	db := s.Database()
	jdbc := db.port()
	if set.Delay > 0 {
		var err error
		s.delay, err = startDelay(env.Addr(s.Env.Port(delayPort)), env.Addr(db.port()), set.Delay)
		if err != nil {
			return err
		}
		jdbc = s.Env.Port(delayPort)
	}
	var gateways []string
	for i, spec := range set.Services {
		ports := servicePorts + portsOfService*i
		var v *Service
		var err error
		if spec.Line == "dubbogo" {
			v, err = s.startGo(spec, ports, jdbc)
		} else {
			settings := map[string]string{
				"jdbc.url": db.jdbc(jdbc), "jdbc.user": dbUser, "jdbc.password": dbPassword,
				"vendor": "http://" + env.Addr(s.Env.Port(vendorPort)),
			}
			for k, value := range spec.Settings {
				settings[k] = value
			}
			spec.Settings = settings
			v, err = s.startJVM(spec, ports)
		}
		if err != nil {
			return err
		}
		s.Services = append(s.Services, v)
		if v.Go {
			// A dubbo-go consumer needs its provider to be there.
			if err := v.Wait(ctx); err != nil {
				return err
			}
		}
		if spec.Role == "gateway" || spec.Role == "consumer" {
			gateways = append(gateways, env.Addr(s.Env.Port(ports+3)))
		}
	}
	for _, v := range s.Services {
		if err := v.Wait(ctx); err != nil {
			return err
		}
	}
	for len(gateways) < set.Proxy.Tries { // two addresses of one gateway
		gateways = append(gateways, gateways[0])
	}
	return s.Nginx.use(ctx, s.Env, set.Proxy, gateways)
}

// Leave ends the services of the run, all at once. Their logs stay until the next.
func (s *Stack) Leave() error {
	errs := make([]error, len(s.Services))
	var stopping sync.WaitGroup
	for i, v := range s.Services {
		stopping.Go(func() { errs[i] = v.proc.Stop() })
	}
	stopping.Wait()
	s.Services = nil
	if s.delay != nil {
		s.delay.close()
		s.delay = nil
	}
	return errors.Join(errs...)
}

// Service finds a service of the run.
func (s *Stack) Service(name string) (*Service, error) {
	for _, v := range s.Services {
		if v.Name == name {
			return v, nil
		}
	}
	return nil, fmt.Errorf("no service is named %s", name)
}

// Counters reads all services' counters.
func (s *Stack) Counters(ctx context.Context) (map[string]truth.Counters, error) {
	all := map[string]truth.Counters{}
	for _, v := range s.Services {
		if !v.proc.Running() {
			continue // a fault may have ended it
		}
		c, err := v.Counters(ctx)
		if err != nil {
			return nil, err
		}
		all[v.Name] = c
	}
	return all, nil
}

// Stop ends one service: the fault "gone".
func (v *Service) Stop() error { return v.proc.Stop() }
