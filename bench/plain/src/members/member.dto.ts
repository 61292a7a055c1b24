import { Expose } from 'class-transformer';
import { IsEmail, IsInt, IsOptional, IsString, Min } from 'class-validator';

export class CreateMemberDto {
  @IsString()
  accountnumber: string;

  @IsEmail()
  email: string;

  @IsOptional()
  @IsInt()
  @Min(0)
  elevel?: number;

  @IsOptional()
  @IsString()
  contactname?: string;
}

export class PatchMemberDto {
  @IsOptional()
  @IsString()
  accountnumber?: string;

  @IsOptional()
  @IsEmail()
  email?: string;

  @IsOptional()
  @IsInt()
  @Min(0)
  elevel?: number;

  @IsOptional()
  @IsString()
  contactname?: string;
}

export class MemberDto {
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
}
