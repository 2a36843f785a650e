/** One host of an installation, as `claimcheck serve` runs it. */
import { openClaimcheck } from '@claimcheck/server/container'
import { SEQUENCER_THREAD } from '@claimcheck/server/log/thread/sequencer-thread'
import { startServer } from '@claimcheck/server/server'
import { configOf, type Place } from './place.ts'
import { given, serve } from './process.ts'

const claimcheck = await openClaimcheck(configOf(given<Place>()), {
  plugins: true,
  sequencerThread: SEQUENCER_THREAD,
})
const server = await startServer(claimcheck)
serve(server.url, async () => {
  await server.stop()
  await claimcheck.close()
})
