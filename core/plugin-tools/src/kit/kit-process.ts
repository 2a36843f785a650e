/** The process of `plugin test` with the rights of the command. */
import { runKitHere } from './kit-run.ts'

await runKitHere()
