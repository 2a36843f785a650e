/**
 * `npm run demo`: what Claimcheck does, on this machine and without internet.
 * `-- --anchor`: the story, with a chain that says when. `-- --tour`: each action at each kind of place.
 */
import { tellStory } from './demo/story.ts'
import { takeTour } from './tour/tour.ts'

const has = (flag: string) => process.argv.includes(flag)
const isAsExpected = has('--tour') ? await takeTour() : await tellStory({ isAnchored: has('--anchor') })
process.exitCode = isAsExpected ? 0 : 1
