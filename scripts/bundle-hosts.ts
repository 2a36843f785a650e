/** Part of `npm run build`: the hosts that tests kill and start again, as few files in `build/bundled`. */
import { bundle } from './bundling.ts'

await bundle({
  entryPoints: { host: 'build/test/crash/host.js', 'sequencer-thread': 'build/test/crash/sequencer-thread.js' },
  folder: 'build/bundled',
})
