/** `npm run demo`: what Claimcheck does, on this machine and without internet. `-- --anchor`: with a chain that says when. */
import { tellStory } from './demo/story.ts'
import { installTools } from './tools.ts'

const isAnchored = process.argv.includes('--anchor')
if (isAnchored) await installTools(['chain'])
process.exitCode = (await tellStory({ isAnchored })) ? 0 : 1
