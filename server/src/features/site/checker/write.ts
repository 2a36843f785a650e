/** The last step of the build: writes the offline checker. */
import { writeFileSync } from 'node:fs'
import { CHECKER_FILE, checkerFile } from './file.tsx'

writeFileSync(CHECKER_FILE, checkerFile())
