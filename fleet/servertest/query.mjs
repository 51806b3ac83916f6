// query.mjs SQL: runs one query in DuckDB and prints its rows as lines of JSON. @duckdb/node-api lies in the directory that HIST_DUCKDB_DIR names.
import { createRequire } from "node:module";

const { DuckDBInstance } = createRequire(process.env.HIST_DUCKDB_DIR + "/")("@duckdb/node-api");
const connection = await (await DuckDBInstance.create(":memory:")).connect();
const reader = await connection.runAndReadAll(process.argv[2]);
for (const row of reader.getRowObjectsJson()) console.log(JSON.stringify(row));
