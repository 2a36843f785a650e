/** `npm run demo`: what Claimcheck does, on this machine and without internet. `-- --anchor`: with a chain that says when. */
import { tellStory } from './demo/story.ts'
import { say } from './demo/terminal.ts'
import { installTools } from './tools.ts'

const isAnchored = process.argv.includes('--anchor')
process.exitCode = 1
try {
  if (isAnchored) await installTools(['chain'])
  if (await tellStory({ isAnchored })) process.exitCode = 0
} catch (error) {
  say(`\nThis step failed: ${error instanceof Error ? error.stack : error}`)
}
