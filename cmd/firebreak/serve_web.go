package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/exporter-toolkit/web"

	"github.com/firebreak-io/firebreak/exporter"
	"github.com/firebreak-io/firebreak/lang"
)

// webPage is what is shown over HTTP.
type webPage struct {
	server    *http.Server
	listeners []net.Listener
	failed    chan error
}

func startWeb(c webConfig, s *exporter.Server, logger *slog.Logger) (*webPage, error) {
	handler, err := s.Handler()
	if err != nil {
		return nil, err
	}
	p := &webPage{
		// A long poll is answered within half a minute.
		server: &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, WriteTimeout: time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10},
		failed: make(chan error, 1),
	}
	for _, addr := range c.Listen {
		l, err := net.Listen("tcp", addr)
		if err != nil {
			return nil, errors.Join(lang.Errorf("show metrics and reports: %w", err), p.close())
		}
		p.listeners = append(p.listeners, l)
	}
	socket := false
	flags := &web.FlagConfig{WebListenAddresses: &c.Listen, WebSystemdSocket: &socket, WebConfigFile: &c.ConfigFile}
	if err := web.Validate(c.ConfigFile); err != nil {
		return nil, errors.Join(lang.Errorf("--web.config.file: %w", err), p.close())
	}
	go func() {
		if err := web.ServeMultiple(p.listeners, p.server, flags, logger.With("listener", "web")); err != nil && !errors.Is(err, http.ErrServerClosed) {
			p.failed <- err
		}
	}()
	return p, nil
}

func (p *webPage) addresses() []string {
	var list []string
	for _, l := range p.listeners {
		list = append(list, l.Addr().String())
	}
	return list
}

// close ends what is under way, and gives it a moment.
func (p *webPage) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	err := p.server.Shutdown(ctx)
	for _, l := range p.listeners { // those that were never served from
		_ = l.Close()
	}
	return err
}
