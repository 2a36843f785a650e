/** What the thread is started with. */
import { runSequencerThread } from './thread.ts'

await runSequencerThread()
