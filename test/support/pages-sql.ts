/** The SQL that the documentation tells operators to run. */
import { readFileSync } from 'node:fs'

/** The statements of each block, in the order of the page `logs.md`. */
export function sqlOfLogsPage(logId = ''): {
  readonly partition: string
  readonly divide: string
  readonly takeOut: string
} {
  const page = readFileSync('server/docs/logs.md', 'utf8')
  const [partition, divide, takeOut] = [...page.matchAll(/```sql\n([\s\S]*?)```/g)].map(([, sql]) =>
    sql!.replaceAll('LOG_ID', logId),
  )
  return { partition: partition!, divide: divide!, takeOut: takeOut! }
}
