/** The sequencer's thread of a host that can be struck. */
import { runSequencerThread } from '@claimcheck/server/sequencer-thread/thread'
import { beforeStatement } from './strike.ts'

await runSequencerThread(beforeStatement)
