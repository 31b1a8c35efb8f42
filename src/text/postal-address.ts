// Writes the address of a venue in one line.

export interface PostalAddress {
  address?: string;
  zip?: string;
  city?: string;
  stateprovince?: string;
  country?: string;
}

/** `40 Quay Street, Gullhaven, ME 04599, United States`; without a state or province: `Am Markt 1, 54539 Ürzig`. */
export function postalAddress({ address, zip, city, stateprovince, country }: PostalAddress): string {
  const joined = (parts: (string | undefined)[], separator: string) => parts.filter(Boolean).join(separator);
  const town = stateprovince ? joined([city, joined([stateprovince, zip], ' ')], ', ') : joined([zip, city], ' ');
  return joined([address, town, country], ', ');
}
