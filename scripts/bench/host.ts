/** Runs one host of an installation, as `claimcheck serve` does. */
import { openClaimcheck } from '@claimcheck/server/claimcheck'
import { startServer } from '@claimcheck/server/host/start'
import { configOf, type Installation } from './installation.ts'
import { given, serve } from './process.ts'

const claimcheck = await openClaimcheck(configOf(given<Installation>()), { plugins: true })
const server = await startServer(claimcheck)
serve(server.url, async () => {
  await server.stop()
  await claimcheck.close()
})
