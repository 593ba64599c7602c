-- An event that does nothing: what remains is the cost of an event.

function event()
end
