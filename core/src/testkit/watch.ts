/** Notes what a plugin does behind the host's back in a check: connections of its own, and reads of the machine's clock. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { Socket } from 'node:net'

/** Hears of a plugin's misuse. @param name the kit's check that fails */
export type Note = (name: string, problem: string) => void

const watched = new AsyncLocalStorage<Note | undefined>()
let watchers = 0

/** Runs code of the plugin. */
export function watching<T>(note: Note, run: () => T): T {
  return watched.run(note, run)
}

/** Runs code of the kit that the plugin called. */
export function unwatched<T>(run: () => T): T {
  return watched.run(undefined, run)
}

/** Watches what `watching` runs, until the returned function is called. Other code of the process is not affected. */
export function installWatch(): () => void {
  if (watchers++ === 0) install()
  return () => {
    if (--watchers === 0) uninstall()
  }
}

const machine = Date
const connect = Socket.prototype.connect

function install(): void {
  globalThis.Date = new Proxy(machine, {
    construct(target, args, newTarget) {
      if (args.length === 0) noteClock()
      return Reflect.construct(target, args, newTarget)
    },
    apply() {
      noteClock()
      return machine()
    },
    get(target, name) {
      if (name !== 'now') return Reflect.get(target, name)
      return () => {
        noteClock()
        return machine.now()
      }
    },
  })
  Socket.prototype.connect = function (this: Socket, ...args: Parameters<typeof connect>) {
    const note = watched.getStore()
    if (!note) return connect.apply(this, args)
    note(
      'requests.own-network',
      'opens a connection of its own: everything goes through `context.fetch`, `http` or `connect`',
    )
    throw new Error('a check may not open connections of its own')
  } as typeof connect
}

function uninstall(): void {
  globalThis.Date = machine
  Socket.prototype.connect = connect
}

function noteClock(): void {
  watched.getStore()?.('clock.machine', "reads the machine's clock: `context.now()` is the clock of a check")
}
