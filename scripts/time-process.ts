/** Loaded first in a process of one test file, which says at its end what it took. */
import { startFile } from './file-time.ts'

const end = startFile(process.env.TEST_FILES!)
process.on('exit', () => console.log(`# ${end()}`))
