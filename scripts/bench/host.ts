/** One host of an installation, as `claimcheck serve` runs it. */
import { openClaimcheck } from '@claimcheck/server/claimcheck'
import { startServer } from '@claimcheck/server/host/start'
import type { SqliteDriverName } from '@claimcheck/server/storage/sqlite-drivers'
import { configOf, type Installation } from './installation.ts'
import { given, serve } from './process.ts'

const { sqliteDriver, ...installation } = given<Installation & { readonly sqliteDriver?: SqliteDriverName }>()
const claimcheck = await openClaimcheck(configOf(installation), {
  plugins: true,
  drivers: sqliteDriver && [sqliteDriver],
})
const server = await startServer(claimcheck)
serve(server.url, async () => {
  await server.stop()
  await claimcheck.close()
})
