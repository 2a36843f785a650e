import { nameProgram, typed } from '@claimcheck/command-line/typed'
import t from 'tap'

const rows: [program: string, folder: string, typed: string][] = [
  ['/home/ann/claimcheck/claimcheck', '/home/ann/claimcheck', './claimcheck key list'],
  ['/srv/service/node_modules/.bin/claimcheck', '/srv/service', 'node_modules/.bin/claimcheck key list'],
  ['/home/ann/claimcheck/server/bin/claimcheck.js', '/home/ann/claimcheck', 'node server/bin/claimcheck.js key list'],
  ['/usr/local/bin/claimcheck', '/srv/service', 'claimcheck key list'],
  ['/srv/service/other-program.js', '/srv/service', 'claimcheck key list'],
  ['', '/srv/service', 'claimcheck key list'],
]

for (const [program, folder, expected] of rows) {
  t.test(`a command to copy begins as the program was started: ${program || 'unknown'}`, async (t) => {
    nameProgram('claimcheck')
    t.equal(typed('key list', program, folder), expected)
  })
}
