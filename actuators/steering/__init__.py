"""How a placement is brought onto switches and jobs, by the best means each of them has."""
