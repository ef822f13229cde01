import { lookup } from 'node:dns/promises';
import ipaddr from 'ipaddr.js';
import { InputError, RemoteError } from '../../core/index.ts';

export interface Address {
  address: string;
  family: 4 | 6;
}

/** How names become addresses, and which of these may be connected to. */
export interface AddressPolicy {
  resolve(host: string): Promise<Address[]>;
  allows(address: string): boolean;
}

/**
 * Whether an address is one of the public internet. Everything that the registries of special addresses name is
 * not: loopback, private, link-local (cloud metadata), carrier NAT, multicast, documentation, and the IPv6 forms
 * that wrap an IPv4 address (mapped, NAT64, 6to4, Teredo), of which the mapped ones are read as what they wrap.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  if (parsed.range() !== 'unicast') return false;
  // IPv4-compatible addresses (::a.b.c.d, RFC 4291, deprecated) wrap one as well; ::/96 is no global unicast.
  return (
    parsed.kind() === 'ipv4' ||
    parsed
      .toByteArray()
      .slice(0, 12)
      .some((byte) => byte !== 0)
  );
}

export const PUBLIC_ADDRESSES: AddressPolicy = {
  resolve: async (host) => (await lookup(host, { all: true })) as Address[],
  allows: isPublicAddress,
};

/**
 * The address to connect to for a host. All addresses of a name must be allowed: a name that also points inside
 * is a trap. InputError for one that is not allowed, RemoteError for a name that does not resolve.
 */
export async function addressOf(host: string, policy: AddressPolicy): Promise<Address> {
  const literal = host.startsWith('[') ? host.slice(1, -1) : host;
  const addresses: Address[] = ipaddr.isValid(literal)
    ? [{ address: literal, family: literal.includes(':') ? 6 : 4 }]
    : await resolved(host, policy);
  const refused = addresses.find(({ address }) => !policy.allows(address));
  if (refused !== undefined) {
    throw new InputError(`${host} leads to ${refused.address}, which is no public address`, {
      hint: 'pictures are fetched from the public internet only; download it and give the file',
    });
  }
  return addresses[0]!;
}

async function resolved(host: string, policy: AddressPolicy): Promise<Address[]> {
  try {
    const found = await policy.resolve(host);
    if (found.length > 0) return found;
  } catch (error) {
    throw new RemoteError(`the name ${host} does not resolve`, { reason: 'unreachable', cause: error });
  }
  throw new RemoteError(`the name ${host} has no address`, { reason: 'unreachable' });
}
