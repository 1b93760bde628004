package main

import (
	"context"
	"errors"

	hessian "github.com/apache/dubbo-go-hessian2"
)

const skuInterface = "com.acme.shop.SkuService"

// Stock is what getSkuStock and price answer.
type Stock struct {
	Sku    string
	Amount int64
}

// JavaClassName names the class for hessian.
func (*Stock) JavaClassName() string { return "com.acme.shop.SkuStock" }

func init() { hessian.RegisterPOJO(new(Stock)) }

// SkuClient is what dubbo-go makes a proxy of. The tags are the names on the wire.
type SkuClient struct {
	GetSkuStock func(ctx context.Context, sku string) (*Stock, error) `dubbo:"getSkuStock"`
	GetCategory func(ctx context.Context, id string) (string, error)  `dubbo:"getCategory"`
	Price       func(ctx context.Context, sku string) (*Stock, error) `dubbo:"price"`
}

// skuNames has the methods of the service, whose names dubbo-go reads by
// reflection to call them over triple without generated code.
type skuNames struct{}

func (*skuNames) GetSkuStock(context.Context, string) (*Stock, error) { return nil, errNotCalled }
func (*skuNames) GetCategory(context.Context, string) (string, error) { return "", errNotCalled }
func (*skuNames) Price(context.Context, string) (*Stock, error)       { return nil, errNotCalled }
func (*skuNames) Reference() string                                   { return skuInterface }

var errNotCalled = errors.New("only the names of these methods are read")

// Reference is the name that dubbo-go keeps the service under.
func (*SkuClient) Reference() string { return skuInterface }
