// The address is a placeholder, until the project has one.
module example.org/bloomtype/clients/go

go 1.19
