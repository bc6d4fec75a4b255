import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** A checksum over every row of every table in a data folder except `without`. Equal sums mean no change. */
export function databaseSum(dataDir: string, without: readonly string[] = []): string {
  const database = new DatabaseSync(join(dataDir, 'creel.db'), { readOnly: true });
  try {
    const hash = createHash('sha256');
    const tables = database.prepare("select name from sqlite_schema where type = 'table' order by name").all();
    for (const { name } of tables) {
      if (without.includes(String(name))) continue;
      hash.update(`${String(name)}\n`);
      // `checks` changes with each readiness check.
      const rows = database.prepare(`select * from "${String(name)}"`).all();
      for (const row of rows.filter((one) => one['name'] !== 'checks')) hash.update(`${JSON.stringify(row)}\n`);
    }
    return hash.digest('hex');
  } finally {
    database.close();
  }
}
