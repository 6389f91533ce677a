"""A leaf-spine fabric of Linux network namespaces: switches that speak gNMI and really forward."""
