// OWNER is a placeholder, until the project has an address.
module example.org/OWNER/bloomtype/clients/go

go 1.19
