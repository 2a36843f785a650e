/** The entry point of the sequencer's thread: opens the installation a second time, for the sequencer only. */
import { openClaimcheck } from './container.ts'
import { runSequencerThread } from './log/thread/serve.ts'

await runSequencerThread((config) => openClaimcheck(config, { plugins: false }))
