"""One module per family of APIs. Each API has a handler, a refusal and a row; ``server/table.py`` lists the rows."""
