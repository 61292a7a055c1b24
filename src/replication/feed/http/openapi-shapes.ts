import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { OFFSET_ID, TIMESTAMP } from './openapi-parameters.js';

@ApiSchema({ description: 'A record as it is now' })
export class UpdateItem {
  @ApiProperty({ description: 'Under which other programs know the record' })
  id: string;

  @ApiProperty({ example: 'product' })
  type: string;

  @ApiProperty(TIMESTAMP)
  createDate: string;

  @ApiProperty({ description: 'Who made it' })
  createdBy: string;

  @ApiProperty(TIMESTAMP)
  lastupdated: string;

  @ApiProperty({ type: 'object', additionalProperties: true, description: 'The stored data, key for key' })
  data: object;

  @ApiProperty({ type: [String], required: false, description: 'Always on products; on members when stored' })
  channels?: string[];
}

@ApiSchema({ description: 'A record that a copy no longer holds' })
export class DeleteItem {
  @ApiProperty()
  id: string;

  @ApiProperty({ ...TIMESTAMP, description: 'With a capital U, unlike in other items' })
  lastUpdated: string;
}

class Envelope {
  @ApiProperty({ ...OFFSET_ID, description: 'The lastoffsetid of the next page; empty on an empty page' })
  nextoffsetid: string;
}

@ApiSchema({ description: 'A page of `updates`' })
export class UpdatesPage extends Envelope {
  @ApiProperty({ type: [UpdateItem] })
  result: UpdateItem[];
}

@ApiSchema({ description: 'A page of `softdeletes` or `harddeletes`' })
export class DeletesPage extends Envelope {
  @ApiProperty({ type: [DeleteItem] })
  result: DeleteItem[];
}

@ApiSchema({ description: 'How far it is safe to read' })
export class SafeOffset {
  @ApiProperty({
    ...TIMESTAMP,
    description:
      'The greatest timestamp of the kind: send it as `to`, and store it as the next `from` when the harvest is complete',
  })
  offset: string;
}
