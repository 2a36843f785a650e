/** The module of the sequencer's thread: opens the installation once more, for the sequencer alone. */
import { openClaimcheck } from './container.ts'
import { runSequencerThread } from './log/thread/serve.ts'

await runSequencerThread((config) => openClaimcheck(config, { plugins: false }))
