// Test run: end-to-end
/** The page about MCP lists the tools and resources that there are. */
import { readFileSync } from 'node:fs'
import { TOOLS } from '@claimcheck/cli/mcp/tools'
import t from 'tap'

const page = readFileSync('server/docs/mcp.md', 'utf8')

t.test('its table is that of the code', async (t) => {
  const rows = TOOLS.map(
    ({ name, scope, annotations }) => `| \`${name}\` | \`${scope}\` | ${annotations.readOnlyHint ? 'no' : 'yes'} |`,
  )
  const [, table = ''] = /^\| tool \|.*\n\|[-|]+\n((?:\|.*\n)+)/m.exec(page) ?? []
  t.strictSame(table.trimEnd().split('\n'), rows)
})
