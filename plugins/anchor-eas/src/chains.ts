/** The chains that are known by name, with the addresses of the Ethereum Attestation Service on them. */

export interface Chain {
  readonly id: number
  readonly eas: string
  readonly schemaRegistry: string
}

// The addresses of the contracts on every chain of the OP stack.
const PREDEPLOYS = {
  eas: '0x4200000000000000000000000000000000000021',
  schemaRegistry: '0x4200000000000000000000000000000000000020',
}

export const CHAINS: Readonly<Record<string, Chain>> = {
  'base-sepolia': { id: 84532, ...PREDEPLOYS },
  'op-sepolia': { id: 11155420, ...PREDEPLOYS },
  sepolia: {
    id: 11155111,
    eas: '0xC2679fBD37d54388Ce493F1DB75320D236e1815e',
    schemaRegistry: '0x0a7E2Ff54e76B8E6659aedc9103FB21c038050D0',
  },
}
