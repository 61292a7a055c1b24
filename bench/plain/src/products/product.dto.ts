import { Expose } from 'class-transformer';

export class ProductDto {
  @Expose()
  id: string;

  @Expose()
  type: string;

  @Expose()
  createDate: Date;

  @Expose()
  createdBy: string;

  @Expose()
  lastupdated: Date;

  @Expose()
  data: Record<string, unknown>;

  @Expose()
  channels: string[];
}
