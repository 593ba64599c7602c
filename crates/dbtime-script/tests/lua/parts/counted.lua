-- A module that counts how often it is loaded, in the globals of its client.

parts_loaded = (parts_loaded or 0) + 1
return { loads = parts_loaded }
