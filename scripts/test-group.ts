/** Runs test files in this one process: to load what they have in common takes longer than most of them. */
import { resolve } from 'node:path'

for (const path of process.env.TEST_FILES!.split(' ')) await import(resolve(path))
